"""Given names of people in some forty languages, without those that are also words of programs."""

import re
import unicodedata

GIVEN_NAMES = tuple(
    """
    aaron abdul abdullah abel abigail achim adalbert adam adela adele adeline adnan adolfo adrian
    adriana adrien agata agathe agnes agneta agnieszka ahmad ahmed ahmet aidan aileen aino aisha
    aishwarya akash akihiro akiko akira alan alasdair albert alberto albin albrecht alejandra
    alejandro aleksander aleksandr aleksandra alena alessandra alessandro alessia alexander
    alexandra alexandre alexei alexey alexis alfonso alfred alfredo alice alicia alina aline alisa
    alison alistair allison alvaro alyssa amalia amanda amara amelia amelie amina amir amit amy
    anand anastasia anaïs anders andrea andreas andrei andrej andres andrew andrey andrzej angela
    angelica angelika angelina anika anil anita anja anjali anke ankit anna annabel anne annegret
    annelie anneliese annemarie annette annie annika anouk anselm ante anthony anton antonella
    antonia antonin antonio anya aoi aoife ariane arjun armando armin arnaud arne arnold arseni
    artem arthur artur arturo arun arvid asger ashley ashok asier aslan asli astrid atsushi attila
    audrey auguste aurelia aurelie aurélie axel ayaka ayse aysegul ayşe ayşegül aziz azra baptiste
    barbara barbora bartek bartholomew bartosz bastian beata beate beatrice beatrix beatriz bence
    benedek benedetta benedikt benjamin bent bernadette bernard bernd bernhard bert bertram bertrand
    betty bianca birgit birgitta birgitte bjarne bjorn björn blanca blanka bogdan bogumila bogumił
    boguslaw borja botond bozena bożena brandon branislav branko brenda brendan brian bridget
    brigitte britta bronwyn bryan burak caitlin camila camille candice carina carl carla carlo
    carlos carlotta carolin caroline carsten catalina catarina caterina catherine cathy cecile
    cecilia cedric celine cemal cengiz cesar chandrika charles charlotte chiara chidi chinedu
    chinonso chloe christa christel christelle christiane christina christine christoph christophe
    christopher cindy claire clara clarissa claudia claudio claus clemens clement clementine colette
    colin colleen connor conny conor conrad constance constanze corinna corinne cornelia cornelis
    corrado cosima cristian cristiana cristina cynthia cédric dagmar daisuke dalia damian damien
    damir daniel daniela daniele danielle danil danilo danuta darek daria dariusz darko darragh
    darren david davide debora deborah deepa deepak deirdre delia delphine denis denise dennis derek
    desmond devika diana diane didier dieter dietmar dilara dimitri dimitrios dimitris dina dinesh
    dirk divya dmitri dmitry dmytro domenico dominik dominika dominique donald donatella doreen
    doris dorota dorothea dorothy dorte dragan dragana duncan dusan dušan ebba eberhard ebru eckhard
    edgar edith edoardo eduard eduarda eduardo edward edwin edyta eerikki eero egbert egon eileen
    eino ekaterina elena eleni eleonora eleonore elias elif elin elina elisa elisabeth elisabetta
    elise eliska eliza elizabeth eliška elke ellen elliot elmar elodie eloise elsa elsbeth elvira
    emanuel emanuele emeka emil emilia emilie emilio emily emin emine emma emmanuel emmanuelle emre
    endre enrico enrique enzo erhard eric erica erich erik erika erin ernesto ernst erwin esra
    esteban estelle ester esther etienne eugen eugene eugenia eugenio eun eva evan evelyn evelyne
    everett ewa ewald fabian fabiana fabien fabienne fabio fabrice fabrizio fadi fanny farah fares
    fatima fatma fatou federica federico felicia felicitas felipe felix femke ferdinand ferenc
    fernanda fernando fernao filip filipa filippa filippo finn fiona flavia flavio florent florian
    francesca francesco francis francisca franck francois francoise franz franziska françois
    françoise frauke freddy frederic frederick frederik frederike frida friederike friedrich frode
    frédéric fumiko gabor gabriel gabriela gabriele gabriella gabrielle gaetano gareth gary gaspard
    gaston gauthier gavin geert geoffrey georg george georges gerald geraldine gerard gerda gerhard
    gerrit gert gertrud giacomo gianluca gianni gianpaolo gideon gilbert gilles gina giorgia giorgio
    giovanna giovanni gisela giulia giuliana giulio giuseppe gladys goran gottfried grazyna grażyna
    gregor gregory greta grete grzegorz guido guilherme guillaume guillermo gulsen gunnar gunter
    gunther gustav gustavo györgy gábor gérard günter günther hakan hakon halina hamid hamza hana
    hanna hannah hanne hannelore hannes hans harald harold harriet haruka haruki harumi hasan hassan
    hatice heather hector hedvig hedwig heidi heike heiko heiner heinrich heinz helen helena helene
    helga helge helmut hendrik henk henning henri henrietta henriette henrik henrike henry herbert
    heribert herman hermann hilda hilde hildegard hiro hiroko hiroshi holger horst hortense hristo
    hubert hugh huseyin hyun håkon hüseyin iain ian ibrahim ida ignacio igor ikram ildiko ilja ilka
    ilona ilse imke imre ines inga inge ingeborg inger ingmar ingo ingrid inka inès ioana iolanda
    irena irene irina irma irmgard isaac isabel isabela isabella isabelle ismail istvan istván
    itziar ivan ivana ivar iveta ivo iwona izabela jaakko jacek jackie jacob jacqueline jacques
    jaime jakob jakub jamal james jamie jana jane janek janet janice janina janine janne janos jari
    jarmila jaroslav jaroslaw jarosław jasmin jasna jason javier jean jeanette jeanne jeff jeffrey
    jelena jelle jennifer jenny jens jeremy jeroen jerome jerzy jesper jessica jesús jette jill
    jimmy jing jiri jitka jiří joachim joan joana joanna joao joaquim joaquin joaquín jochen joel
    joelle joerg johan johann johanna johannes john johnny jonas jonathan joost jordi jorge joris
    jose josef josefina josefine joseph josephine joshua josip josé joyce joão juan juana juanita
    judith jukka julian juliana juliane julie julien juliette julio julius junko jurandir jurek
    jurgen juri jussi justin justine justyna jutta jyoti jános jérôme jörg jörn jürgen kaan kaisa
    kaja kalle kamil kamila kanako kaori kare karen karin karina karl karla karol karolina karoline
    karsten kasia kaspar katarina katarzyna kateryna katharina katherine kathleen kathrin kathryn
    kathy katia katja katrin katrina katy kavita kayla kazimierz kazuki kazuko kazuo keiko keith
    kemal kenji kenjiro kenneth kenta kerstin kevin khaled khalid kimberly kinga kirsten kirsti
    kirstin kjell kjersti klara klaudia klaus knud knut koen kofi koji konrad konstantin
    konstantinos kornelia krista kristian kristiina kristin kristina kristine kristof krisztina
    krystyna krzysztof kunal kurt kwame kyle kyoko lachlan laila lakshmi larissa larry lars lasse
    laszlo laura laure lauren laurence laurent lauri lavinia lea leah leandro lech leif leila lena
    lennart leonard leonardo leonhard leonie leonor leopold leslie leszek letizia levente liam lidia
    liesbeth liisa lili lilian liliana lillian linda lindsay ling linnea linus lionel lisa lisbeth
    lise liv livia liz ljiljana loic lonneke lore lorena lorenz lorenza lorenzo loretta lothar lotta
    lotte louis louisa louise loïc luc luca lucas lucia lucie lucien lucille lucinda lucja lucy
    ludmila ludo ludovic ludovica ludovico ludwig luigi luis luisa luise luiz lukas lukasz luke lutz
    lydia lynn lyudmila lászló maarten maciej madeleine mads mael magda magdalena magnus mahmoud
    maike maja makoto malgorzata malik malin malte mamadou mandy manfred manoj manon manuel manuela
    mara marc marcel marcela marcella marcello marcelo marcin marco marcos marcus marek maren
    margaret margareta margarete margarita margherita margit margot margrit marguerite mariam
    mariana marianna marianne marie marieke mariella marielle marijke marika marike marilyn marina
    mario marion marisa marisol maritta marius mariusz marja marjan marko markus marlene marlies
    marlon marta martha martin martina martine mary mary-ann masako masashi massimo mateo mateus
    mateusz mathias mathieu mathilde matilda matilde matouš matteo matthew matthias matthieu matti
    mattias maud maura maureen maurice mauricio maurizio maxim maxime maximilian maya mayumi
    małgorzata megan megumi mehdi mehmet mei meike melanie melinda melissa merete merve mette
    micaela michael michaela michal michał michel michele michelle michiko midori mieke miguel
    mihaela mihai mika mikael mikhail mikko mikolaj mikołaj mila milan milena milica milos miloš
    mina minna mira miranda mirco mireille mirella miriam mirjam mirka mirko miroslav mirosław
    mitchell miyuki mohamed mohammad mohammed moira mona monica monika monique montserrat morgane
    moritz morten mostafa muhammad murat murielle mustafa nadia nadine nadja nagore naoko naomi
    naoto naresh natacha natalia natalie nataliya natascha natasha nathalie nathan nathanael
    nathaniel neha neil nele nelly nevena ngozi nicholas nico nicola nicolai nicolas nicole nicolo
    niels nigel nikhil nikita nikki niklas niko nikola nikolai nikolaj nikolaos nikolas nikolaus
    nils nina nino nitin noah nobuko noelia noemi noemie nora norbert noriko norma noémie nuno nuria
    octavio oddvar oksana olaf olav oleg oleksandr olena olga oliver olivera olivia olivier olof
    oluwaseun omar orhan orla oskar osman oswald othmar otmar ottavia oumar owen ozgur pablo paloma
    pamela paola paolo parisa pascale pasi pasquale patrice patricia patrick patrik patrizia patryk
    paul paula paulina pauline paulo pavel pawel paweł pedro peggy pekka pelle penelope perrine
    petar peter petr petra petri petros petter philip philipp philippa philippe phillip piero pierre
    piet pieter pietro pilar piotr pirkko piyush pooja pradeep prakash pranav prashant preeti
    priscilla priya priyanka przemyslaw przemysław quentin rachel rachid radek radka radoslav
    radosław radu rafael rafaela rafal rafał raffaele raffaella ragnar ragnhild rahul raija rainer
    rajesh rajiv ralf ralph ramesh ramon ramona ramón randi raphael raquel rashid rasmus raul ravi
    raymond raúl rebecca rebekka regina reginald reiko reiner reinhard reinhold remco remi remy
    renata renate renato renaud rene renzo rené renée ricardo riccardo richard rikard rikke riku
    rita robbert robert roberta roberto rocio rodrigo roel roger roisin roland rolf romain romana
    romuald ronald ronan ronja roos rosalie rosalind rosanna rosario roswitha roxana roxane ruben
    rubén rudi rudolf rudy rune rupert ruth ryan ryo ryota ryszard régis rémi rúben saara sabina
    sabine sabrina sachiko sakari sakura salma salome salvatore samantha sami samir samira samuel
    samuele sander sandra sandrine sandro sanja sanjay sanna sanne saoirse sara sarah sari sascha
    saskia satoshi satu saverio sayuri sean sebastian sebastiano sebastien selim selin selina selma
    sema serena serge sergei sergey sergio serhii severin seán shannon sharon shaun shauna shawn
    sheila shigeru shinji shirley shivani shreya sibel sibylle siegfried sigrid sigurd silas silje
    silke silvana silvester silvia silvio simon simona simone sina sinead siobhan siri siv slavica
    slawomir snežana sofia sofie solange soledad solveig sonia sonja sophia sophie soraya soren
    stacey stanislaus stanislav stanisław stanley stefan stefania stefanie stefano steffen steffi
    stephan stephane stephanie stephen steve steven stig stijn stina stéphane sunil sunita suresh
    susan susana susann susanna susanne suzanne svein sven svenja svetlana sylvain sylvester sylvia
    sylvie szymon sébastien søren sławomir tadashi tadeusz takahiro takashi takeshi tamara tamas
    tamás tania tanja tanya tariq taro tatiana tatjana tatsuya teemu teodor teodora terence teresa
    teresita terje tetiana tetsuya thea theo theodor theodora theresa therese thiago thibault
    thibaut thierry thijs thilo thomas thorben thorsten thérèse tiago tibor tilda tilman timea timo
    timothy tina tobias todd tomas tomasz tommaso tommy tomoko tomás tomáš torben torbjorn torbjörn
    torsten toshiko tove tracy traudel traute trevor trine tristan trond truls tuomas turgut udo ugo
    ulf ulla ulrich ulrik ulrika ulrike umberto ursina ursula usha uta ute uwe vaclav vadim valentin
    valentina valentino valeria valerie valerio valter valérie vanessa vasil vasilis vassilis verena
    verica veronica veronika veronique vesna vicente vicki vijay vikas viktor viktoria viktoriya
    vilhelm ville vilma vilém vinay vincent vincenzo violeta virginie vishal vitaly vito vittoria
    vittorio vivek vivian viviane vladimir vladislav voitto vojtech vojtěch volker volkmar volodymyr
    václav véronique waldemar walter waltraud wanda wencke wendell wendy werner wiebke wieland
    wiktor wiktoria wilfried wilhelm wilhelmina willem william wilma winfried wioletta witold
    wlodzimierz wojciech wolfgang wolfram wout wouter włodzimierz xavier xiaoming ximena yael yann
    yannick yasemin yasmin yasmine yasuko yoko yolanda yosef yoshiko youssef yuki yukiko yulia yuri
    yuriy yusuf yuto yves yvette yvonne zbigniew zbyněk zdenek zdenka zdeněk zdravko zeynep zlatko
    zofia zoltan zoltán zora zoran zsofia zsolt zsuzsanna zsófia zuzana zuzanna özge özlem łukasz
    """.split()
)
LETTERS = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "ı": "i"})


def _plain(name: str) -> str:
    """Return a name in ASCII letters."""
    folded = unicodedata.normalize("NFKD", name.translate(LETTERS))
    return "".join(letter for letter in folded if letter.isascii())


PLAIN_NAMES = tuple(dict.fromkeys(map(_plain, GIVEN_NAMES)))
GIVEN = "|".join(
    sorted({name.title() for name in (*GIVEN_NAMES, *PLAIN_NAMES)}, key=len, reverse=True)
)
"""An expression for a given name as it is written."""
LOWER_GIVEN = re.compile("|".join(sorted(PLAIN_NAMES, key=len, reverse=True)).encode())


def begins_with_given_name(name: bytes) -> bool:
    """Return whether a user name begins with a given name of some length."""
    found = LOWER_GIVEN.match(name.lower())
    return found is not None and (
        found.end() >= 5 or name[found.end() : found.end() + 1] in b"._-s0123456789"
    )
