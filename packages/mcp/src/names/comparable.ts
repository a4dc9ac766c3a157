/** Characters that are the same in the form in which they are compared. */
const PLAIN = /^[ -~]*$/

/**
 * The form in which a name is compared with patterns: names that look the same are the same, whether a letter with an
 * accent is one character or two, and without characters that are not shown.
 */
export function comparable(name: string): string {
  return PLAIN.test(name)
    ? name
    : name.normalize().replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
}
