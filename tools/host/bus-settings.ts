import { setting } from '@mcp-host/service'
import { z } from 'zod'

/** Settings of the nats-server that `npm start` runs. */
export const busSettings = {
  busAccounts: setting({
    env: 'BUS_ACCOUNTS',
    schema: z.enum(['on', 'off'], { error: 'must be on or off' }),
    default: 'on',
    describe:
      'Whether each service has its own account at the nats-server that `npm start` runs, which limits it to its own subjects.',
  }),
}
