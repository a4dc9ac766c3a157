import { ownValue } from '@mcp-host/contracts'
import { nearestName } from '@mcp-host/service'
import type { Env } from './read-env.ts'
import { ALL_SETTINGS } from './settings.ts'

/** Whatever begins so is meant for this program. */
const FAMILIES = /^(LLM|MAX|MCP)_/
/** Names of other programs are no misspellings of short ones, such as PORT. */
const MIN_LENGTH = 8
const MAX_DISTANCE = 2
/** Of providers in llm.json, by their names. */
const PROVIDER_SETTING = /_(API_KEY|API_KEY_FILE|BASE_URL)$/

const KNOWN = ALL_SETTINGS.flatMap(({ settings }) =>
  Object.values(settings).flatMap(({ env, aliases = [] }) => [
    env,
    ...aliases,
    ...(env.endsWith('_API_KEY') ? [`${env}_FILE`] : []),
  ]),
)
const LONG = KNOWN.filter((name) => name.length >= MIN_LENGTH)

/**
 * Variables that look like settings and are none, each with the setting that may be meant. Variables that the
 * configuration files name are what they are meant to be.
 */
export function unknownSettings(env: Env, configurationTexts: readonly string[]): string[] {
  const text = configurationTexts.join('\n')
  const lowerText = text.toLowerCase().replaceAll('-', '_')
  const isNamed = (name: string): boolean =>
    text.includes(name) ||
    (PROVIDER_SETTING.test(name) &&
      lowerText.includes(`"${name.replace(PROVIDER_SETTING, '').toLowerCase()}"`))
  return Object.keys(env)
    .filter((name) => (ownValue(env, name) ?? '') !== '' && !KNOWN.includes(name) && !isNamed(name))
    .flatMap((name) => {
      const near = nearestName(name, LONG, MAX_DISTANCE)
      if (near !== undefined) return `${name} is not a setting; did you mean ${near}?`
      if (!FAMILIES.test(name)) return []
      return `${name} is not a setting; the nearest is ${nearestName(name, KNOWN)}`
    })
}
