// Messages of the server, with remedies that are controls of the page in place of options of commands.

const REMEDIES = [
  [/; name (it|them) in `columns`, like \{.*?\}/g, "; choose $1 under “How it is read”"],
  [/name one of (.*) with --sheet/g, "choose one of $1 under “Sheet”"],
  [/others, for --sheet: /g, "others, under “Sheet”: "],
  [/--encoding (\S+): unknown; use a name such as .*/g, "encoding $1: unknown; choose another under “Encoding”"],
  [/name another column with --column created_at=NAME/g, "choose another column under “Date”"],
  [/leave out the names of columns \(--column\), or read by them alone: --posts-format columns/g, "choose no columns, or “By its columns” under “Format”"],
  [/is ambiguous \(day or month first\?\); write dates like \S+/g, "is ambiguous; choose what is first under “Day and month”"],
  [/within (?:(?:, | and )?--(?:since|until|lang))+/g, "within the chosen dates and languages"],
];

export const onPage = (message) => REMEDIES.reduce((text, [pattern, remedy]) => text.replace(pattern, remedy), message);
