import { existsSync } from 'node:fs'
import type { LlmSettings } from '../settings/llm-settings.ts'
import { providerOf } from '../settings/llm-settings.ts'
import { providers as definitions } from '../providers/index.ts'
import { answers } from './list-models.ts'

/** The time limit for local servers, after which they count as not running. */
export const LOCAL_PATIENCE_MS = 1_000
/** The time limit for a local server that the settings name, which may be busy. */
const WANTED_PATIENCE_MS = 5_000

/** The host name by which a container reaches its machine; `undefined` outside of a container. */
export function hostOfContainer(): string | undefined {
  const marks = ['/.dockerenv', '/run/.containerenv']
  return marks.some((mark) => existsSync(mark)) ? 'host.docker.internal' : undefined
}

/**
 * Settings in which local servers may be on another host: a provider with the default address is looked for at both.
 */
export async function locateLocal(
  settings: LlmSettings,
  otherHost: string | undefined,
): Promise<LlmSettings> {
  if (otherHost === undefined) return settings
  const wanted = [settings.default ?? '', ...settings.fallback].map(providerOf)
  const located = Array.from(settings.providers.values()).map(async (provider) => {
    const { isLocal, baseUrl } = definitions[provider.type]
    if (isLocal !== true || provider.baseUrl !== baseUrl) return provider
    const there = { ...provider, baseUrl: baseUrl.replace('127.0.0.1', otherHost) }
    const patienceMs = wanted.includes(provider.name) ? WANTED_PATIENCE_MS : LOCAL_PATIENCE_MS
    const asked = [provider, there].map(async (each) => {
      if (!(await answers(each, patienceMs))) throw new Error('it is not there')
      return each
    })
    // A server on this host answers sooner than one on another.
    return Promise.any(asked).catch(() => provider)
  })
  const providers = new Map((await Promise.all(located)).map((each) => [each.name, each]))
  return { ...settings, providers }
}
