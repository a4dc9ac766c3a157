// Bare addresses as GFM has them, with two limits more: texts without spaces go on behind an address.

/** Punctuation and symbols beyond ASCII, without the dots within names of Japanese and Catalan. */
const END = '(?![·‧・])(?=[^\\x00-\\x7F])[\\p{P}\\p{S}]'
/** A host does not change its script within a label: "https://example.com에서" is `example.com`. */
const HOST =
  '[a-zA-Z0-9-](?:[!"$-.0-;=>@-~\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}]|(?<=\\.)[\\p{L}\\p{M}]+)*'
const EMAIL = '[a-zA-Z0-9._+-]+@[a-zA-Z0-9_-]+(?:\\.[a-zA-Z0-9_-]*[a-zA-Z0-9])+(?![\\w-])'

/** Replaces the rule `url` of marked, and has its groups. */
export const addressRule = new RegExp(
  `^(?:mailto|xmpp):${EMAIL}|^((?:https?|ftp)://|www\\.)${HOST}(?:[/?#](?:(?!${END})[^\\s<])*)?|^${EMAIL.replace('@', '(@)')}`,
  'iu',
)
