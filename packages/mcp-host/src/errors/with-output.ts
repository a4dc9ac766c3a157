/** A reason with the last lines of output that explain it. */
export function withOutput(reason: string, output: readonly string[]): string {
  return output.length === 0 ? reason : `${reason}. Its last output:\n  ${output.join('\n  ')}`
}
