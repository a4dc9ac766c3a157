import type { ChangedToolsDeps } from './changed-tools.ts'

/** The pins of hosts that pin no tools. */
export const NO_PINS: ChangedToolsDeps['pins'] = {
  changed: () => [],
  accept: async () => undefined,
}
