// Entry point of served pages: sessions and lists, with their frame.
import { startFrame } from "./frame.js";
import { startPage } from "./reading.js";
import { registerStarActions, startStars } from "./stars.js";

registerStarActions();
startPage();
startFrame();
startStars();
