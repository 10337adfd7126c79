export { consoleRoutes } from './app.ts';
export { replayLane } from './replay-lane.ts';
