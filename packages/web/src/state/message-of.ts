/** The text of a fault. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
