import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { currentCall, rememberCall } from './current-call.ts'
import { serveThrough, type ServedCall } from './serve-call.ts'

test('code of this process knows the call that it works for, and no other one', async () => {
  const serve = serveThrough([rememberCall])
  const run = (call: string): Promise<string> => {
    const send = async (): Promise<string> => {
      await sleep(1)
      return currentCall().call
    }
    // The step passes on what the call is.
    return serve({ call, send } as ServedCall<string>)
  }
  expect(await Promise.all(['one', 'two', 'three'].map(run))).toEqual(['one', 'two', 'three'])
  expect(() => currentCall()).toThrow('within a tool call')
})
