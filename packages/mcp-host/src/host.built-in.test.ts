// Servers that a distributed host has itself, which an application has not.
import { expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'

test('an application without built-in servers says so', async () => {
  const stage = await HostStage.open()
  const started = stage.host.initialize({ servers: { llm: { builtIn: 'llm' } } })
  await expect(started).rejects.toThrow('this host has no built-in server "llm"')
})
