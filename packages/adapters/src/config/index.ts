export { type Config, ConfigError, environmentWith, readServiceConfig, readStandaloneConfig } from './config.ts';
export { ENVIRONMENT } from './environment.ts';
export { SETTINGS, type SettingNote } from './settings-list.ts';
