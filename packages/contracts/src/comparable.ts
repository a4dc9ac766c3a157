/** Characters that are the same in the form in which they are compared. */
const PLAIN = /^[ -~]*$/

/**
 * The form in which a text is compared with patterns: names that look the same are the same, whether a letter with an
 * accent is one character or two, and without characters that are not shown.
 */
export function comparable(text: string): string {
  return PLAIN.test(text)
    ? text
    : text.normalize().replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
}
