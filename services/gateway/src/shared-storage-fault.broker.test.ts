import { shareStorageFault } from '@mcp-host/service'
import { eventually, startBroker } from '@mcp-host/testkit'
import { test } from 'vitest'
import { SharedStorageFault } from './shared-storage-fault.ts'

test.concurrent.each(['gateway', 'orchestrator', 'llm-worker', 'mcp-supervisor'])(
  'a gateway that writes nothing knows of a storage fault of another process (%s), until it is over',
  async (service) => {
    await using broker = await startBroker({ hasAccounts: true })
    const bus = await broker.connect(service)
    let fault: string | undefined = 'the host cannot store: no room'
    using shared = new SharedStorageFault(await broker.connect('gateway'))
    using _ = shareStorageFault({
      emit: bus.emit.bind(bus),
      storage: { fault: () => fault },
    })
    await eventually(() => shared.current() === fault)
    fault = undefined
    await eventually(() => shared.current() === undefined)
  },
)
