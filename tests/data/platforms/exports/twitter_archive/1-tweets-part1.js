window.YTD.tweets.part1 = [
 {
  "tweet": {
   "id_str": "9002",
   "id": "9002",
   "full_text": "Dam in an archive",
   "lang": "en",
   "created_at": "Wed Oct 10 20:19:24 +0000 2018",
   "entities": {
    "urls": [
     {
      "expanded_url": "https://news.example/dam"
     }
    ]
   }
  }
 }
]