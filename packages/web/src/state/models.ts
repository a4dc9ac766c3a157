import type { Models } from '@mcp-host/client'
import { host } from './host.ts'
import { Store } from './store.ts'

/** The models of the host; `undefined` until they are known. */
export const models = new Store<Models | undefined>(undefined)

/** Why no model can answer, in words; `undefined` when one can, as far as it is known. */
export function modelFault(known: Models | undefined): string | undefined {
  if (known === undefined) return undefined
  if (known.default === undefined) return 'No model is ready. Messages wait until there is one.'
  const { provider } = known.default
  const error = known.providers.find((each) => each.provider === provider)?.error
  return error === undefined
    ? undefined
    : `Answers may fail: ${provider} did not list its models (${error}). Choose another model, or check the settings of the provider.`
}

/** Reads the models again. Without an answer the known ones stay. */
export async function loadModels(): Promise<void> {
  try {
    const read = await host.models()
    // The same models make no component draw again.
    if (JSON.stringify(read) !== JSON.stringify(models.get())) models.set(read)
  } catch {
    // The state of the connection says what is wrong.
  }
}
