/**
 * The maximum length of names, URIs and templates, which appear in many messages, logs and keys. Real ones are far
 * shorter.
 */
const MAX_LENGTH = 4_096
/** The length of a refused name in a warning. */
const MAX_SHOWN = 100

/** Control characters, line separators, and marks that change the displayed order of a text. */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** The reason to leave out an item with this name, if there is one. */
export function nameFault(name: string): string | undefined {
  if (name.length > MAX_LENGTH) return `its name has more than ${MAX_LENGTH} characters`
  if (CONTROLS.test(name)) return 'its name has control characters'
  return name.isWellFormed() ? undefined : 'its name is not valid Unicode'
}

/** A name for logs: shortened, with escapes for invisible characters. */
export function shownName(name: string): string {
  const shown = name.slice(0, MAX_SHOWN).replaceAll(NOT_SHOWN, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
  return name.length > MAX_SHOWN ? `${shown}… (${name.length} characters)` : shown
}
