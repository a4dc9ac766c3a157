import type { Clause } from '../reading/clause.ts'
import type { Span } from '../reading/literals.ts'
import { squash, stem } from '../reading/words.ts'

/** Everywhere a name is written in the clause, with whatever separators: `fooBar`, `foo-bar`, "foo bar". */
export function findMentions({ text, words, literals }: Clause, name: string): Span[] {
  const wanted = squash(name)
  if (wanted === '') return []
  const found: Span[] = literals.filter(
    ({ kind, value }) => (kind === 'quoted' || kind === 'path') && squash(value) === wanted,
  )
  words.forEach((first, index) => {
    let joined = ''
    let end = first.start
    for (const word of words.slice(index, index + 12)) {
      if (joined !== '' && !/^[\s_.:/-]{1,2}$/.test(text.slice(end, word.start))) return
      joined += word.text
      end = word.end
      if (joined === wanted) {
        found.push({ start: first.start, end })
        return
      }
      if (!wanted.startsWith(joined)) return
    }
  })
  return found
}

/** Also in other forms of the word: "titled" for `title`, "recursively" for `recursive`. */
export function findInflected(clause: Clause, name: string): Span[] {
  const found = findMentions(clause, name)
  const wanted = stem(name.toLowerCase())
  if (wanted.length < 4) return found
  const inflected = clause.words.filter(
    (word) => word.stem === wanted && !found.some((span) => span.start === word.start),
  )
  return [...found, ...inflected]
}
