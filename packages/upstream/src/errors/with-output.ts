/** An error's reason, followed by the last lines of the server's output. */
export function withOutput(reason: string, output: readonly string[]): string {
  return output.length === 0 ? reason : `${reason}. Its last output:\n  ${output.join('\n  ')}`
}
