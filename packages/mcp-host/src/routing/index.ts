export { findResource, type ResourceIdentity, type ResourceLists } from './find-resource.ts'
