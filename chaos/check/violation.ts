/** Something that must never happen, and did. */
export interface Violation {
  /** The rule that was broken, in a word or two: violations are counted by it. */
  readonly rule: string
  /** The client, session or process that shows it. */
  readonly where: string
  readonly detail: string
  /** The message whose turn shows it, where there is one. */
  readonly message?: string | undefined
}
