export type {
  AppendOptions,
  Blobs,
  Bus,
  CallOptions,
  Catalog,
  CatalogView,
  DirectoryView,
  FollowItem,
  InputJobs,
  InputVerdict,
  Lease,
  LeaseRecord,
  Leases,
  LeaseView,
  LogCounts,
  LogEnd,
  McpClients,
  McpClientView,
  OpaqueCallHandler,
  OpaqueReplyListener,
  PutRecordOptions,
  ReadOptions,
  ServedRequest,
  SessionDirectory,
  SessionLog,
  Snapshots,
  Storage,
  StoredBlob,
} from './bus.ts'
export type { DamagedSession } from './find-damage.ts'
export { findDamage } from './find-damage.ts'
export type { Frame } from './frame.ts'
export { parseNatsUrl } from './connect.ts'
export { ChangeEmitter } from './change-emitter.ts'
export type { BusLogger } from './nats-bus.ts'
export { connectBus } from './nats-bus.ts'
export type { StoreFolder } from './storage-health.ts'
export { wasLost } from './log-end.ts'
export { readLists, storeLists } from './stored-lists.ts'
