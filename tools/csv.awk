# Reads CSV with quoted fields. mode=pick prints the named columns of each row, mode=drop prints
# all others, mode=regular fails when a row has another number of fields than the head.
function split_csv(line, fields,    n, i, c, quoted, field) {
  n = 0
  field = ""
  quoted = 0
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (c == "\"")
      quoted = !quoted
    else if (c == "," && !quoted) {
      fields[++n] = field
      field = ""
    } else
      field = field c
  }
  fields[++n] = field
  return n
}

NR == 1 {
  count = split_csv($0, head)
  wanted = split(names, name, " ")
  for (i = 1; i <= count; i++)
    at[head[i]] = i
  for (i = 1; i <= wanted; i++) {
    if (!(name[i] in at)) {
      print "no column " name[i]
      exit 1
    }
    listed[at[name[i]]] = 1
  }
}

{
  fields = split_csv($0, row)
  if (mode == "regular" && fields != count) {
    print "row " NR " has " fields " fields, not " count
    exit 1
  }
}

mode == "pick" && NR > 1 {
  line = ""
  for (i = 1; i <= wanted; i++)
    line = line (i > 1 ? " " : "") row[at[name[i]]]
  print line
}

mode == "drop" {
  line = ""
  for (i = 1; i <= count; i++)
    if (!(i in listed))
      line = line "|" row[i]
  print line
}
