import { isTooDeep } from '@mcp-host/json'
import { z } from 'zod'
import { readDataFile } from './read-data-file.ts'
import { ConfigError, setting, values } from './settings.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The setting that names the file. */
export const configFileSetting = setting({
  env: 'CONFIG_FILE',
  schema: values.text.optional(),
  describe:
    'YAML or JSON file with settings by their names; the environment wins. This setting itself must be an environment variable.',
})

/**
 * Completes an environment by the settings of the file that its `CONFIG_FILE` names. Throws `ConfigError` with all
 * faults of the file.
 */
export function withConfigFile(env: Env): Env {
  const file = env[configFileSetting.env] || undefined
  if (file === undefined) return env
  const given = Object.entries(env).filter(([, value]) => value !== '')
  return { ...readConfigFile(file), ...Object.fromEntries(given) }
}

const MAX_DEPTH = 16
const Section = z.record(z.string(), z.unknown(), 'must be settings by their names')
const Value = z.union([z.string(), z.number(), z.boolean()]).transform(String)
const List = z.array(Value.refine((item) => !item.includes(',')))

/** The settings of a file, by the names of their environment variables. Throws `ConfigError` with all faults. */
export function readConfigFile(file: string): Record<string, string> {
  const all = readDataFile(file, Section)
  if (all === undefined)
    throw new ConfigError([`${configFileSetting.env}: there is no file ${file}`])
  if (isTooDeep(all, MAX_DEPTH)) throw new ConfigError([`${file}: is nested too deeply`])
  const found = new Map<string, string>()
  const problems: string[] = []
  const read = (section: Record<string, unknown>, path: readonly string[]): void => {
    for (const [key, value] of Object.entries(section)) {
      const place = [...path, key]
      const name = place.map(variableName).join('_')
      const complain = (what: string): unknown =>
        problems.push(`${file}: ${place.join('.')}: ${what}`)
      const text = z.union([Value, List.transform((items) => items.join(','))]).safeParse(value)
      const nested = Section.safeParse(value)
      if (value === null) continue
      else if (nested.success) read(nested.data, place)
      else if (!text.success) complain('must be a text, or a list of texts without commas')
      else if (found.has(name)) complain(`${name} is set twice`)
      else found.set(name, text.data)
    }
  }
  read(all, [])
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.fromEntries(found)
}

/** `toolApproval`, `tool-approval` and `tool_approval` are TOOL_APPROVAL. */
function variableName(key: string): string {
  return key
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toUpperCase()
}
