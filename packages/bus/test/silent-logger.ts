import type { BusLogger } from '../src/nats-bus.ts'

export const silentLogger: BusLogger = { info: () => {}, warn: () => {}, error: () => {} }
