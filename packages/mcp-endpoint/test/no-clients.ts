import type { Clients } from '../src/sessions/clients.ts'

export const nothing: Disposable = { [Symbol.dispose]: () => undefined }

/** Clients without sessions and records. */
export const noClients: Clients = {
  record: () => ({}),
  read: () => undefined,
  hold: () => nothing,
  change: async () => undefined,
  onChange: () => nothing,
  cancel: () => undefined,
  onCancel: () => nothing,
}
