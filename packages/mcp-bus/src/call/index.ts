export { BusUpstream } from './bus-upstream.ts'
