const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00A0'],
  ['copy', '©'],
  ['hellip', '…'],
  ['mdash', '—'],
  ['ndash', '–'],
  ['times', '×'],
  ['rarr', '→'],
  ['larr', '←'],
])

/** Replaces the character references of a text that is shown as text. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi,
    (whole, dec, hex, name) => {
      if (name !== undefined) return NAMED.get(name) ?? whole
      const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec)
      return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
    },
  )
}
