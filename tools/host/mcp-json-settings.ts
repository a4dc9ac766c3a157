import { ownValue, withoutAlias } from '@mcp-host/contracts'
import { keyVariable } from '@mcp-host/llm-worker/settings'
import { nearestName, readDataFile } from '@mcp-host/service'
import { z } from 'zod'
import type { Env } from './read-env.ts'

const text = z.string('must be a string').optional()

const Llm = z.looseObject({ type: text, api_key: text, system_prompt: text, model: text })

/** The fields beside the servers. Their values are validated with the settings. */
const HostFields = z.looseObject({
  llm: Llm.optional(),
  max_tool_calls: z.number('must be a number').optional(),
  maxToolCalls: z.number('must be a number').optional(),
})

export interface McpJsonSettings {
  /** Settings from the file, for those that the environment lacks. */
  readonly settings: Env
  readonly warnings: readonly string[]
}

/**
 * The settings of the host in an `mcp.json`: `llm` and `max_tool_calls`, beside the servers. The environment wins.
 * Throws `ConfigError` for fields of the wrong type.
 */
export function mcpJsonSettings(path: string, env: Env): McpJsonSettings {
  // The supervisor names keys that an entry has twice, and leaves out only its server.
  const fields = readDataFile(path, HostFields, { mayRepeatKeys: true })
  const { llm = {}, max_tool_calls, maxToolCalls } = fields ?? {}
  const warnings = Object.keys(llm)
    .filter((name) => !Object.hasOwn(Llm.shape, name))
    .map((name) => {
      const known = Object.keys(Llm.shape)
      const nearest = nearestName(name, known, 2)
      const hint =
        nearest === undefined ? `there are ${known.join(', ')}` : `did you mean ${nearest}?`
      return `${path}: llm.${name} is not a known field; ${hint}`
    })
  const isSet = (name: string): boolean => (ownValue(env, name) ?? '') !== ''
  const type = withoutAlias(llm.type ?? 'gemini')
  const isOtherProvider = isSet('LLM_PROVIDER') && withoutAlias(env['LLM_PROVIDER'] ?? '') !== type
  const found: Record<string, string | undefined> = {
    LLM_PROVIDER: llm.type === undefined ? undefined : type,
    LLM_MODEL: isOtherProvider ? undefined : expanded(llm.model, env),
    SYSTEM_PROMPT: llm.system_prompt,
    MAX_TOOL_CALLS: (max_tool_calls ?? maxToolCalls)?.toString(),
  }
  const key = expanded(llm.api_key, env)
  const variable = keyVariable(type)
  const other = [variable, `${variable}_FILE`].find(isSet)
  const warn = (message: string): unknown => warnings.push(`${path}: llm.api_key ${message}`)
  if (key === '' && llm.api_key !== undefined) warn('names a variable that is not set')
  else if (key !== '' && other !== undefined) warn(`is not used, as ${other} is set; remove it`)
  else if (key !== '') found[variable] = key
  if (Object.hasOwn(found, variable) && key === llm.api_key) {
    const where = `${variable} in the environment or in .env`
    warn(`is used, but a key belongs in ${where}, as files like this one are shared`)
  }
  const settings = Object.entries(found).filter(([name, value]) => value && !isSet(name))
  return { settings: Object.fromEntries(settings), warnings }
}

/** Expands the variables in a value, like elsewhere in the file. */
function expanded(value: string | undefined, env: Env): string {
  return (value ?? '').replaceAll(
    /\$\{(?:env:)?(\w+)\}/g,
    (_, name: string) => ownValue(env, name) ?? '',
  )
}
