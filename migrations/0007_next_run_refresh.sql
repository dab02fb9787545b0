CREATE TABLE `nextRunRefresh` (
	`id` integer PRIMARY KEY NOT NULL,
	`dueAt` text NOT NULL,
	`cursor` integer NOT NULL
);
