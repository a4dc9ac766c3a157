import { ownValue } from '@mcp-host/contracts'
import { nearestName, readConfigFile } from '@mcp-host/service'
import type { Env } from './read-env.ts'
import { ALL_SETTINGS } from './settings.ts'

/** Prefixes of variables for this program. */
const FAMILIES = /^(LLM|MAX|MCP)_/
/**
 * Shorter settings, such as PORT, are not suggested for a misspelt name, since names of other programs may resemble
 * them.
 */
const MIN_LENGTH = 8
const MAX_DISTANCE = 2
/** Settings of the providers in llm.json, by provider name. */
const PROVIDER_SETTING = /_(API_KEY|API_KEY_FILE|BASE_URL)$/

/** Variables that the commands read, not the host. */
const COMMAND_SETTINGS = ['MCP_HOST_TOKEN']
const KNOWN = ALL_SETTINGS.flatMap(({ settings }) =>
  Object.values(settings).flatMap(({ env, aliases = [] }) => [
    env,
    ...aliases,
    ...(env.endsWith('_API_KEY') ? [`${env}_FILE`] : []),
  ]),
)
const LONG = KNOWN.filter((name) => name.length >= MIN_LENGTH)

/** Whether a variable is a setting of the host or of a provider in llm.json. */
export function isSetting(name: string): boolean {
  return KNOWN.includes(name) || PROVIDER_SETTING.test(name)
}

function isKnown(name: string): boolean {
  return KNOWN.includes(name) || COMMAND_SETTINGS.includes(name)
}

/**
 * Finds variables that resemble settings but are none, and names in `CONFIG_FILE` that are none, each with the setting
 * that may be meant. Variables that other configuration files name are left out.
 */
export function unknownSettings(env: Env, configurationTexts: readonly string[]): string[] {
  const text = configurationTexts.join('\n')
  const ours = env['CONFIG_FILE'] ? Object.keys(readConfigFile(env['CONFIG_FILE'])) : []
  const lowerText = text.toLowerCase().replaceAll('-', '_')
  const isNamed = (name: string): boolean =>
    text.includes(name) ||
    (PROVIDER_SETTING.test(name) &&
      lowerText.includes(`"${name.replace(PROVIDER_SETTING, '').toLowerCase()}"`))
  return Object.keys(env)
    .filter((name) => (ownValue(env, name) ?? '') !== '' && !isKnown(name) && !isNamed(name))
    .flatMap((name) => {
      const near = nearestName(name, LONG, MAX_DISTANCE)
      if (near !== undefined) return `${name} is not a setting; did you mean ${near}?`
      if (!FAMILIES.test(name) && !ours.includes(name)) return []
      return `${name} is not a setting; the nearest is ${nearestName(name, KNOWN)}`
    })
}
