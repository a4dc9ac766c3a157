const MAX_LENGTH = 1_000_000
/** A number with more digits than JavaScript keeps. Strings are matched first, so that their digits do not count. */
const STRING_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|(\d[\d.]{15,})/g

/** The object or list in a text of JSON; `undefined` for any other text, and for one with numbers that would be rounded. */
export function readJson(text: string): object | undefined {
  if (text.length > MAX_LENGTH || !/^\s*[{[]/.test(text)) return undefined
  for (const [, number] of text.matchAll(STRING_OR_LONG_NUMBER))
    if (number !== undefined) return undefined
  try {
    return JSON.parse(text) as object // it begins with a bracket
  } catch {
    return undefined
  }
}

type Flat = Readonly<Record<string, string | number | boolean | null>>

const MAX_COLUMNS = 12

/** A list of flat objects. */
export interface JsonRows {
  readonly rows: readonly Flat[]
  readonly columns: readonly string[]
}

/** The rows and columns of a list of flat objects; `undefined` for any other value. */
export function tableOf(value: object): JsonRows | undefined {
  if (!Array.isArray(value) || !value.every(isFlat)) return undefined
  const columns = [...new Set(value.flatMap((row) => Object.keys(row)))]
  return columns.length > 0 && columns.length <= MAX_COLUMNS ? { rows: value, columns } : undefined
}

function isFlat(value: unknown): value is Flat {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each !== 'object' || each === null)
}
