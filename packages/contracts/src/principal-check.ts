import { z } from 'zod'
import { defineCall } from './contract.ts'
import { PrincipalId } from './principal.ts'

/**
 * Asks whether a principal still has the roles with which one of its requests was accepted: its account may have been
 * disabled since, or its keys revoked.
 */
export const principalCheck = defineCall('principal.check', {
  from: ['orchestrator'],
  to: ['gateway'],
  answeredBy: 'one',
  request: z.object({ principal: PrincipalId, roles: z.array(z.string()) }),
  reply: z.object({ isInOrder: z.boolean() }),
})
