/** A gateway refused a request, or none answered. */
export class HostError extends Error {
  override readonly name = 'HostError'
  /** As `not-found`; the list is in the reference of the HTTP API. `unavailable`: no gateway answered. */
  readonly code: string
  /** The HTTP status; `undefined` for a frame of a socket, or without an answer. */
  readonly status: number | undefined
  /** The faulty field of the request. */
  readonly field: string | undefined
  /** What refines the code, as `maintenance`. */
  readonly reason: string | undefined
  /** Whether something else than a gateway has answered, as a proxy before it. */
  readonly isForeign: boolean
  /** Id of the approval that a tool call waits for. */
  readonly approval: string | undefined

  constructor(
    code: string,
    message: string,
    {
      status,
      field,
      reason,
      approval,
      isForeign = false,
      ...options
    }: ErrorOptions & {
      status?: number
      field?: string
      reason?: string
      approval?: string
      isForeign?: boolean
    } = {},
  ) {
    super(message, options)
    this.code = code
    this.status = status
    this.field = field
    this.reason = reason
    this.isForeign = isForeign
    this.approval = approval
  }
}
