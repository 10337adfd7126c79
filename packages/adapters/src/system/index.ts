export { closeThreads, giveWay, startThread, type Thread } from './thread.ts';
export { hostThread, methodHost, notify, type ThreadCall, type ThreadHost } from './thread-host.ts';
export { systemTools } from './tools.ts';
