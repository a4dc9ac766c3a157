/** An event that must never happen. */
export interface Violation {
  /** Short name of the broken rule, by which violations are counted. */
  readonly rule: string
  /** The client, session or process that shows it. */
  readonly where: string
  readonly detail: string
  /** Id of the message whose turn shows it, if any. */
  readonly message?: string | undefined
}
