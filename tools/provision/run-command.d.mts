/** Runs a program to its end and resolves with its output; rejects with the end of that output. */
export function runCommand(
  command: string,
  args: readonly string[],
  options?: { readonly cwd?: string; readonly signal?: AbortSignal; readonly timeout?: number },
): Promise<string>
