import { existsSync } from 'node:fs'
import type { LlmSettings } from '../settings/llm-settings.ts'
import type { Provider } from '../settings/find-provider.ts'
import { providerTypes } from '../settings/provider-types.ts'
import { listChatIds } from './list-models.ts'

/** A local server that does not answer by then is not there. */
const PATIENCE_MS = 300

/** By that name containers reach the machine that they run on; `undefined` outside of one. */
export function hostOfContainer(): string | undefined {
  const marks = ['/.dockerenv', '/run/.containerenv']
  return marks.some((mark) => existsSync(mark)) ? 'host.docker.internal' : undefined
}

/** The models that a server has right now; none when it does not answer at once. */
export async function askLocal(provider: Provider): Promise<{ readonly id: string }[]> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  return await listChatIds({ provider, signal }).catch(() => [])
}

/** The same settings, with servers at their usual place looked for on the other machine as well. */
export async function locateLocal(
  settings: LlmSettings,
  otherHost: string | undefined,
): Promise<LlmSettings> {
  if (otherHost === undefined) return settings
  const located = Array.from(settings.providers.values()).map(async (provider) => {
    const { isLocal, baseUrl } = providerTypes[provider.type]
    if (isLocal !== true || provider.baseUrl !== baseUrl) return provider
    const there = { ...provider, baseUrl: baseUrl.replace('127.0.0.1', otherHost) }
    const [here, other] = await Promise.all([askLocal(provider), askLocal(there)])
    return here.length === 0 && other.length > 0 ? there : provider
  })
  const providers = new Map((await Promise.all(located)).map((each) => [each.name, each]))
  return { ...settings, providers }
}
