const MAX_LENGTH = 1_000_000
/** More digits than a number of JavaScript keeps. */
const LONG_NUMBER = /\d{16}/

/** The object or list that a text of JSON is; `undefined` for other texts, and for one that would not be read exactly. */
export function readJson(text: string): object | undefined {
  if (text.length > MAX_LENGTH || !/^\s*[{[]/.test(text) || LONG_NUMBER.test(text)) return undefined
  try {
    return JSON.parse(text) as object // it begins with a bracket
  } catch {
    return undefined
  }
}

type Flat = Readonly<Record<string, string | number | boolean | null>>

const MAX_COLUMNS = 12

/** The columns of a list of flat objects; `undefined` for any other value. */
export function columnsOf(value: object): readonly string[] | undefined {
  if (!isFlatList(value)) return undefined
  const columns = [...new Set(value.flatMap((row) => Object.keys(row)))]
  return columns.length > 0 && columns.length <= MAX_COLUMNS ? columns : undefined
}

export function isFlatList(value: object): value is readonly Flat[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFlat)
}

function isFlat(value: unknown): value is Flat {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each !== 'object' || each === null)
}
