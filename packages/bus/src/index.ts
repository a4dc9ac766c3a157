export type {
  AppendOptions,
  Bus,
  CallOptions,
  Catalog,
  CatalogView,
  FollowItem,
  ServedRequest,
  SessionLog,
} from './bus.ts'
export { parseNatsUrl } from './connect.ts'
export type { BusLogger } from './nats-bus.ts'
export { connectBus } from './nats-bus.ts'
