window.YTD.tweets.part0 = [
 {
  "tweet": {
   "id": 2001,
   "id_str": "2001",
   "full_text": "Dam &gt; river",
   "created_at": "Wed Oct 10 20:19:24 +0000 2018",
   "lang": "en",
   "in_reply_to_status_id_str": "2000",
   "quoted_status_id_str": "1900",
   "entities": {
    "urls": [
     {
      "url": "https://t.co/x",
      "expanded_url": "https://news.example/dam"
     }
    ]
   }
  }
 },
 {
  "tweet": {
   "id_str": "2",
   "full_text": "RT @ann: Dam"
  }
 }
]