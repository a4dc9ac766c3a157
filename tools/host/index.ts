export type { NatsServer } from './nats-server.ts'
export { freePort, startNatsServer } from './nats-server.ts'
export type { ServiceName, ServiceProcess } from './service-process.ts'
export { SERVICES, startService } from './service-process.ts'
