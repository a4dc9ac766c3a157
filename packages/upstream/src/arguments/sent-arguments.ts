import type { ValidationMode } from '../server-config.ts'
import type { Tool } from '../inventory/tool.ts'

type Arguments = Readonly<Record<string, unknown>>

/**
 * The arguments as a server gets them, whose mode of validation may coerce scalars. Arguments that will be refused stay
 * as they are. `mode`: default `lenient`.
 */
export async function sentArguments(
  tool: Tool,
  args: Arguments,
  mode: ValidationMode = 'lenient',
): Promise<Arguments> {
  if (mode !== 'lenient') return args
  // Loaded at the first use, since it takes memory and most hosts ask for no approvals.
  const { ArgumentValidator } = await import('./argument-validator.ts')
  // The schema stands for its server, whose costly checks must not wait for those of others.
  const verdict = await new ArgumentValidator(mode, { owner: tool.inputSchema }).validate(
    tool,
    args,
  )
  return verdict.kind === 'valid' ? verdict.args : args
}
