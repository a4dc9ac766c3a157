export { BusServers } from './bus-servers.ts'
