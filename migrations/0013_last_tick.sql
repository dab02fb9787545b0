CREATE TABLE `lastTick` (
	`id` integer PRIMARY KEY NOT NULL,
	`scheduledAt` text NOT NULL
);
