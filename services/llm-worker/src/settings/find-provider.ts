import type { Secret } from '@mcp-host/service'
import type { ProviderType as Type } from '../providers/index.ts'
import { needsKey, providers, variablePrefix } from '../providers/index.ts'
import type { ProviderSettings } from './llm-file.ts'
import { ProviderType } from './llm-file.ts'
import type { Environment } from './read-key.ts'
import { keyFromEnvironment, keyFromFile } from './read-key.ts'
import { tidyAddress } from './tidy-address.ts'

/** A configured provider. */
export interface Provider extends Pick<ProviderSettings, 'model' | 'timeouts' | 'limits'> {
  readonly name: string
  readonly type: Type
  readonly models: ProviderSettings['models'] & {}
  /** The address; empty for the built-in demo. */
  readonly baseUrl: string
  readonly apiKey?: Secret
  readonly keyFile?: string
  /** The setting of the key, which errors name; also without a key. */
  readonly keySetting: string
  /** The setting of the address; absent for the default one. */
  readonly addressSetting?: string
}

/** Completes the settings of a provider from the environment. Throws an error that names the missing setting. */
export function findProvider(
  name: string,
  { type = ProviderType.safeParse(name).data, ...settings }: ProviderSettings,
  env: Environment,
): Provider {
  const { apiKeyEnv, apiKeyFile, models = {}, baseUrl, ...rest } = settings
  if (type === undefined) {
    throw new Error(`type: is required, one of ${ProviderType.options.join(', ')}`)
  }
  const definition = providers[type]
  const prefix = variablePrefix(name)
  // The key in the usual variable is sent only to the usual address.
  const keyName =
    apiKeyEnv ?? (name === type ? definition.keyVariable : undefined) ?? `${prefix}_API_KEY`
  const found =
    apiKeyFile === undefined ? keyFromEnvironment(keyName, env) : keyFromFile(apiKeyFile)
  if (found === undefined && (apiKeyEnv !== undefined || needsKey(definition))) {
    throw new Error(`needs ${keyName}, or ${keyName}_FILE, to be set`)
  }
  const addressSetting =
    baseUrl !== undefined
      ? `baseUrl of ${name} in llm.json`
      : env[`${prefix}_BASE_URL`] && `${prefix}_BASE_URL`
  const address = baseUrl ?? (env[`${prefix}_BASE_URL`] || definition.baseUrl)
  if (address === undefined) throw new Error(`needs ${prefix}_BASE_URL to be set`)
  return {
    ...rest,
    name,
    type,
    models,
    baseUrl: definition.connect === undefined ? address : tidyAddress(address),
    keySetting:
      apiKeyFile !== undefined
        ? `apiKeyFile of ${name} in llm.json`
        : found?.file === undefined
          ? keyName
          : `${keyName}_FILE`,
    ...(addressSetting ? { addressSetting } : {}),
    ...(found === undefined ? {} : { apiKey: found.key }),
    ...(found?.file === undefined ? {} : { keyFile: found.file }),
  }
}
