import { PrincipalId } from '@mcp-host/contracts'
import { z } from 'zod'

/**
 * The principals and API keys by which something was made: its maker and, where that is a key, also the makers of the
 * key. It counts only while all of them are in order, so that nothing outlives the account or key for which it stands.
 */
export const Makers = z.object({
  principals: z.array(PrincipalId).describe('Their accounts must be enabled.'),
  keys: z.array(z.string()).describe('Ids of API keys, which must be accepted.'),
})
export type Makers = z.infer<typeof Makers>

/** The makers in a record; those of records of earlier versions are their `createdBy` alone. */
export function makersIn({
  createdBy,
  makers,
}: {
  readonly createdBy: string
  readonly makers?: Makers | undefined
}): Makers {
  return makers ?? { principals: [createdBy], keys: [] }
}
