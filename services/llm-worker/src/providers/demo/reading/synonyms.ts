import { stem } from './words.ts'

/** General English only. Nothing here may know a particular server. */
const GROUPS = `
  folder directory dir
  list show display enumerate view see
  list what which
  get show fetch retrieve obtain tell see
  get what
  open read view show
  list find
  delete remove erase
  create make new
  write save store
  change edit modify update replace
  move rename
  find search look lookup
  add sum plus total
  say echo repeat
  send post
  run execute start trigger launch
  picture image photo
  information info detail metadata
  environment env
  small tiny little
  large big
  calculate compute evaluate
  temperature weather forecast
  document file
  copy duplicate
  multiply product
  subtract minus difference
  compress zip gzip
  mail email
  database db
  message msg
  number count amount
  average mean
  turn toggle switch
  simulate pretend
  identifier id
  language lang
  repository repo
`

const RELATED = readGroups()

export function areSynonyms(one: string, other: string): boolean {
  return RELATED.get(one)?.has(other) ?? false
}

function readGroups(): ReadonlyMap<string, ReadonlySet<string>> {
  const related = new Map<string, Set<string>>()
  for (const line of GROUPS.trim().split('\n')) {
    const stems = line.trim().split(' ').map(stem)
    for (const one of stems) {
      const others = related.get(one) ?? new Set()
      for (const other of stems) if (other !== one) others.add(other)
      related.set(one, others)
    }
  }
  return related
}
