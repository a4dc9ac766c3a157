import type { Env } from './read-env.ts'

/**
 * The settings that `npm start` has of its own. The audit log is on although clients need not authenticate: its entries
 * are written in the background, and show what programs have done on this machine.
 */
export function withStartDefaults(env: Env): Env {
  return { ...env, AUDIT: env['AUDIT'] || 'async' }
}
