// Messages of the server, whose remedies name controls of the page, not options of commands.

const REMEDIES = [
  [/; name (it|them) in `columns`, like \{.*?\}/g, "; choose $1 under “How it is read”"],
  [/name one of (.*) with --sheet/g, "choose one of $1 under “Sheet”"],
  [/others, for --sheet: /g, "others, under “Sheet”: "],
  [/--encoding (\S+): unknown; use a name such as .*/g, "encoding $1: unknown; choose another under “Encoding”"],
  [/name another column with --column created_at=NAME/g, "choose another column under “Date”"],
  [/leave out the names of columns \(--column\), or read by them alone: --posts-format columns/g, "choose no columns, or “By its columns” under “Format”"],
  [/is ambiguous \(day or month first\?\); write dates like \S+/g, "is ambiguous; choose what is first under “Day and month”"],
  [/within (?:(?:, | and )?--(?:since|until|lang))+/g, "within the chosen dates and languages"],
  [/ \(--since, --until\)|--since, --until: | \(repeat --lang for several\)/g, ""],
  [/left out by --lang (.*?): /g, "left out by language ($1): "],
  [/--lang (.*?): (?=not|no post)/g, "languages ($1): "],
  [/Name another one with --column lang=NAME/g, "Choose another one under “Language”"],
  [/Name another one with --column created_at=NAME/g, "Choose another one under “Date”"],
  [/; name one with --annotator/g, "; name one under “Whose labels, if the file does not say”"],
  [/`linker annotate start --strategy random` draws one; .*? `sample`/g, "labeling draws one when the likeliest posts are done"],
];

export const onPage = (message) => REMEDIES.reduce((text, [pattern, remedy]) => text.replace(pattern, remedy), message);
