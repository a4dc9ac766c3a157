export type {
  AppendOptions,
  AuditMessage,
  AuditState,
  AuditStream,
  Blobs,
  Bucket,
  BucketRecord,
  BucketView,
  Bus,
  CallOptions,
  Catalog,
  CatalogView,
  Clock,
  Counter,
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
export { accessRules } from './accounts/access-rules.ts'
export {
  ensureCredentials,
  retireCredentials,
  rotateCredentials,
  steadySeedFile,
} from './accounts/credentials.ts'
export { seedFileOf } from './seed-file.ts'
export type { PublicKeys } from './accounts/server-config.ts'
export { accountsConfig } from './accounts/server-config.ts'
export type { Credential } from './connect.ts'
export { parseNatsUrl } from './connect.ts'
export type { ProvisionOptions } from './provision.ts'
export { provision } from './provision.ts'
export { ChangeEmitter } from './change-emitter.ts'
export type { BusLogger } from './nats-bus.ts'
export { connectBus } from './nats-bus.ts'
export type { StoreRoom } from './storage-health.ts'
export { wasLost } from './log-end.ts'
export { readLists, storeLists } from './stored-lists.ts'
