import type { Models } from '@mcp-host/client'
import { host } from './host.ts'
import { Store } from './store.ts'

/** The models of the host; `undefined` until they are known. */
export const models = new Store<Models | undefined>(undefined)

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
