import type { Clients } from '../clients.ts'

export const nothing: Disposable = { [Symbol.dispose]: () => undefined }

/** No client has a session, or has told anything. */
export const noClients: Clients = {
  record: () => ({}),
  read: () => undefined,
  hold: () => nothing,
  change: async () => undefined,
  onChange: () => nothing,
  cancel: () => undefined,
  onCancel: () => nothing,
}
