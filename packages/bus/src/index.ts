export type {
  AppendOptions,
  Blobs,
  Bus,
  CallOptions,
  Catalog,
  CatalogView,
  FollowItem,
  Lease,
  LeaseRecord,
  Leases,
  LeaseView,
  ServedRequest,
  SessionLog,
  StoredBlob,
} from './bus.ts'
export { parseNatsUrl } from './connect.ts'
export type { BusLogger } from './nats-bus.ts'
export { connectBus } from './nats-bus.ts'
